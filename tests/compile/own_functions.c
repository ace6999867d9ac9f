int getline(char *line, int room) { return (int)(long)line + room; }
int send(int to, double *values, int count) { return (void)to, (void)values, count; }
