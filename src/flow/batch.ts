/**
 * Work that is done together because it came together: a batch is what queued while the ones before were in flight.
 * No timer adds latency, and under load the batches grow by themselves.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Waits until nothing is queued or in flight. */
  idle(): Promise<void>;
}

/** A single item may weigh more; it then goes alone. */
const weightMax = 8_388_608;

export function batcher<Item, Result>(options: {
  readonly sizeMax: number;
  /** What an item weighs, in characters of text: a batch is closed before it grows beyond `weightMax`. */
  readonly weight: (item: Item) => number;
  readonly inFlightMax: number;
  /** Gives one result for each item, in order; an `Error` rejects its item alone. A rejection rejects them all. */
  readonly run: (items: Item[]) => Promise<(Result | Error)[]>;
  readonly onBatch?: (size: number) => void;
}): Batcher<Item, Result> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }
  let queue: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];

  function pump(): void {
    scheduled = false;
    while (inFlight < options.inFlightMax && queue.length > 0) {
      const batch = queue.slice(0, fitting());
      queue = queue.slice(batch.length);
      inFlight++;
      void run(batch);
    }
    if (inFlight === 0 && queue.length === 0) {
      for (const done of idlers) done();
      idlers = [];
    }
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
    try {
      const results = await options.run(batch.map((one) => one.item));
      for (const [index, one] of batch.entries()) {
        const result = results[index];
        if (result instanceof Error) one.reject(result);
        else one.resolve(result as Result);
      }
    } catch (error) {
      for (const one of batch) one.reject(error);
    } finally {
      inFlight--;
      pump();
    }
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        // After the current turn of the event loop, so that requests read together travel together.
        if (!scheduled && inFlight < options.inFlightMax) {
          scheduled = true;
          setImmediate(pump);
        }
      });
    },
    idle() {
      return new Promise((resolve) => {
        idlers.push(resolve);
        setImmediate(pump);
      });
    },
  };
}
