import {
  first,
  priceOf as cost,
  twice,
} from "./price";
import { FileStore } from "./store";

export class Cart {
  names: string[];

  constructor(names: string[] = []) {
    this.names = names;
  }

  add(name: string): void {
    this.names.push(first<string>([name]));
  }

  get total(): number {
    return this.names.map(cost).length;
  }
}

export function checkout(): number {
  const cart = new Cart();
  const label = "😀" + cost("x"); cart.add(label);
  new FileStore().save(cart.total);
  return twice(cart.total);
}

export class BigCart extends Cart {}
