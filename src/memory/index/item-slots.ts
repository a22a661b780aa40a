/** Which slot each item has. Items are numbered densely from 1, so this is a flat array: 4 bytes an item. */
export interface ItemSlots {
  readonly bytes: number
  /** -1 for an item that has none. */
  get: (item: number) => number
  set: (item: number, slot: number) => void
  delete: (item: number) => void
}

const FIRST_CAPACITY = 1_024

export function createItemSlots(): ItemSlots {
  /** One more than the slot; 0 is none. */
  let slots = new Uint32Array(FIRST_CAPACITY)
  return {
    get bytes() {
      return slots.byteLength
    },
    get: (item) => (slots[item] ?? 0) - 1,
    set: (item, slot) => {
      if (item >= slots.length) {
        const wider = new Uint32Array(Math.max(item + 1, Math.ceil(slots.length * 1.5)))
        wider.set(slots)
        slots = wider
      }
      slots[item] = slot + 1
    },
    delete: (item) => {
      if (item < slots.length) slots[item] = 0
    },
  }
}
