export { Cart as Basket, checkout } from "./cart";
