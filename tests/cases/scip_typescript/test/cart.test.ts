import { Basket, checkout } from "../src/index";

export function checkCheckout(): boolean {
  const expected = () => 22;
  return checkout() === expected() && new Basket().names.length === 0;
}
