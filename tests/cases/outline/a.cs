using System;
namespace N
{
    [Attr]
    public partial class K<T> : Base where T : new()
    {
        [Fact]
        public async Task<int> M(int a) => 1;
        public K(int a) : base(a) { }
        ~K() { }
        public int P
        {
            get { return 1; }
        }
        public int Auto { get; set; }
        public static K operator +(K a, K b) { return a; }
        void Outer()
        {
            int Inner(int q) { return q; }
        }
    }
    record R(int X);
    interface I { void IM(); }
    enum E { A }
}
