export interface Store {
  save(total: number): void;
}

export class FileStore implements Store {
  save(total: number): void {
    console.log(total);
  }
}

export function keep(store: Store): void {
  store.save(1);
}
