/**
 * Work that is done together because it came together: a batch is what queued while the one before was in flight, so
 * under load the batches grow by themselves. A second one goes beside it only where many wait, or have waited long: two
 * small batches cost the database more than one, and where they take locks the second mostly waits for the first.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Waits until nothing is queued or in flight. */
  idle(): Promise<void>;
}

/** What became of one item: a result, now or later, or why it is rejected. */
export type Outcome<Result> = Result | Error | Promise<Result>;

/** A single item may weigh more; it then goes alone. */
const weightMax = 8_388_608;
/** How many must wait, or how long, for another batch to go beside one that is in flight. */
const crowd = 200;
const patienceMs = 50;

export function batcher<Item, Result>(options: {
  readonly sizeMax: number;
  /** What an item weighs, in characters of text: a batch is closed before it grows beyond `weightMax`. */
  readonly weight: (item: Item) => number;
  readonly inFlightMax: number;
  /**
   * Gives one result for each item, in order; an `Error` rejects its item alone. A rejection rejects them all. No later batch
   * waits for results that are yet to come.
   */
  readonly run: (items: Item[]) => Promise<Outcome<Result>[]>;
  readonly onBatch?: (size: number) => void;
}): Batcher<Item, Result> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (result: Result | Promise<Result>) => void;
    readonly reject: (error: unknown) => void;
  }
  let queue: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;
  let patience: NodeJS.Timeout | null = null;
  let idlers: (() => void)[] = [];

  function pump(impatient = false): void {
    scheduled = false;
    while (queue.length > 0 && (mayGo() || (impatient && inFlight < options.inFlightMax))) {
      const batch = queue.slice(0, fitting());
      queue = queue.slice(batch.length);
      inFlight++;
      void run(batch);
    }
    if (queue.length > 0) {
      patience ??= setTimeout(() => {
        patience = null;
        pump(true);
      }, patienceMs);
    }
  }

  function tellIdlers(): void {
    if (inFlight > 0 || queue.length > 0) return;
    for (const done of idlers) done();
    idlers = [];
  }

  function mayGo(): boolean {
    return inFlight === 0 || (inFlight < options.inFlightMax && queue.length >= crowd);
  }

  function fitting(): number {
    let weight = 0;
    for (const [index, { item }] of queue.entries()) {
      weight += options.weight(item);
      if (index === options.sizeMax || (index > 0 && weight > weightMax)) return index;
    }
    return queue.length;
  }

  async function run(batch: Waiting[]): Promise<void> {
    options.onBatch?.(batch.length);
    let settle: (one: Waiting, index: number) => void;
    try {
      const results = await options.run(batch.map((one) => one.item));
      settle = (one, index) => {
        const result = results[index];
        if (result instanceof Error) one.reject(result);
        else one.resolve(result as Result | Promise<Result>);
      };
    } catch (error) {
      settle = (one) => one.reject(error);
    }
    inFlight--;
    if (patience) clearTimeout(patience);
    patience = null;
    // The next batch leaves first: the database works on it while the callers of this one are answered.
    pump();
    batch.forEach(settle);
    tellIdlers();
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        // After the current turn of the event loop, so that requests read together travel together.
        if (!scheduled && (mayGo() || patience === null)) {
          scheduled = true;
          setImmediate(pump);
        }
      });
    },
    idle() {
      return new Promise((resolve) => {
        idlers.push(resolve);
        setImmediate(tellIdlers);
      });
    },
  };
}
