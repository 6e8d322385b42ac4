namespace a::b {
namespace {
int A::f(int x) const { return 1; }
}
}  // namespace
template <class T>
class EXPORT_API X : public Y<T> {
 public:
  X() : a_{1}, b_(2) {
  }
  ~X() override = default;
  X(const X&) = delete;
  int operator+(int o) const { return o; }
  void locked() REQUIRES(mutex_) {
    struct Local {
      void m() {}
    };
  }
  void declared(int a);
};
template <typename T>
T X<T>::h() {
  auto lambda = [](int a) {
    return a;
  };
  return 1;
}
X::operator bool() const { return true; }
std::vector<int>& ns::Q<int>::operator[](
    int i) {
  return v;
}
BEGIN_NAMESPACE
VISIBLE int after() {
  TRY {
    int x = 1;
  }
}
TEST_F(Suite, Name) {
}
TEST_CASE("says what") {
}
