/* What Intel MPI declares of notified one-sided operations, for libraries that lack them. */
#ifndef MPIX_NOTIFY_H
#define MPIX_NOTIFY_H
#include <mpi.h>
int MPIX_Win_create_notify(MPI_Win win, int notification_num);
int MPIX_Win_free_notify(MPI_Win win);
int MPIX_Win_get_notify(MPI_Win win, int notification_idx, MPI_Count *notification);
int MPIX_Win_set_notify(MPI_Win win, int notification_idx, MPI_Count notification);
int MPIX_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count expected_value, MPI_Request *request);
int MPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx,
                    MPI_Win win);
int MPIX_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx,
                    MPI_Win win);
#endif
