const f = () => {
  return 1;
};
let g = async function* named() {};
const obj = {
  m() {},
  k: function () {},
  'quoted-key': () => 1,
  nested: { deep() {} },
};
Foo.prototype.bar = function () {
};
exports.x = function () {};
module.exports = function whole() {};
app.handle = function handle(req, res) {
};
class C extends B {
  static s = () => 1;
  #private() {}
  get v() { return 1; }
}
export default class extends C {}
export const Wrapped = React.memo(({ a }) => {
  return a;
});
export const TABLE = [
  1,
];
items.map(function callback(x) {
  return x;
});
items.forEach((x) => {
  x();
});
var Bound = (function () {
  function Hidden() {}
})();
