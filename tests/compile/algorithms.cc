// Loops of the library, which walk memory from both ends, leave it by several ways, and go on with
// what they have found.
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <valarray>
#include <vector>

template <class T> static void show(const char *what, const std::vector<T> &values) {
  std::ostringstream text;
  for (const T &value : values) text << value << ' ';
  std::cout << what << ' ' << std::hash<std::string>{}(text.str()) << '\n';
}

template <class T> static void order(std::vector<T> values) {
  std::vector<T> v = values;
  std::sort(v.begin(), v.end());
  show("sort", v);
  v = values;
  std::stable_sort(v.begin(), v.end(), std::greater<T>());
  show("stable_sort", v);
  v = values;
  std::partial_sort(v.begin(), v.begin() + v.size() / 3, v.end());
  v.resize(v.size() / 3);
  show("partial_sort", v);
  v = values;
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  std::cout << "nth_element " << v[v.size() / 2] << '\n';
  v = values;
  std::make_heap(v.begin(), v.end());
  std::pop_heap(v.begin(), v.end());
  std::sort_heap(v.begin(), v.end() - 1);
  show("heap", v);
  v = values;
  std::rotate(v.begin(), v.begin() + v.size() / 4, v.end());
  std::reverse(v.begin() + 1, v.end() - 1);
  v.erase(std::unique(v.begin(), v.end()), v.end());
  v.insert(v.begin() + 3, values.begin(), values.begin() + 9);
  show("rotate", v);
  auto found = std::search(v.begin(), v.end(), values.begin(), values.begin() + 5);
  std::cout << "search " << found - v.begin() << ' '
            << std::adjacent_find(v.begin(), v.end()) - v.begin() << ' '
            << (std::minmax_element(v.begin(), v.end()).second - v.begin()) << '\n';
}

int main() {
  std::mt19937 random(7);
  std::vector<long> longs(1000);
  std::vector<double> doubles(777);
  std::vector<std::string> strings(300);
  std::generate(longs.begin(), longs.end(), [&] { return long(random() % 500); });
  std::generate(doubles.begin(), doubles.end(), [&] { return random() / 1024.0; });
  std::generate(strings.begin(), strings.end(), [&] { return std::to_string(random() % 999); });
  order(longs);
  order(doubles);
  order(strings);
  std::partial_sum(longs.begin(), longs.end(), longs.begin());
  std::adjacent_difference(longs.begin(), longs.end(), longs.begin());
  show("sums", longs);
  longs.erase(std::remove_if(longs.begin(), longs.end(), [](long x) { return x % 3 == 0; }),
              longs.end());
  std::partition(longs.begin(), longs.end(), [](long x) { return x % 2 == 0; });
  show("partition", longs);
  std::set<std::string> set(strings.begin(), strings.end());
  std::unordered_map<std::string, int> map;
  for (auto &s : strings) map[s]++;
  std::list<long> list(longs.begin(), longs.end());
  list.sort();
  list.unique();
  std::deque<double> deque(doubles.begin(), doubles.end());
  std::sort(deque.begin(), deque.end());
  std::valarray<double> array(doubles.data(), doubles.size());
  array = std::sqrt(array.shift(3)) * 0.5;
  std::cout << set.size() << ' ' << map.size() << ' ' << list.size() << ' ' << deque.front() << ' '
            << array.sum() << '\n';
  std::string text(5000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = char('a' + i % 26);
  std::cout << text.find("xxg") << ' ' << text.rfind("bxx") << ' '
            << text.find_last_not_of("xyz") << ' ' << std::count(text.begin(), text.end(), 'a')
            << '\n';
}
