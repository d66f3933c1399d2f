/**
 * Batches items that arrive together. A batch is what queued while the previous one was in flight, so batches grow with
 * the load and no timer adds latency. A second batch runs in parallel only if many items wait or one waits long: two
 * small batches cost the database more than one, and a second one mostly waits for the locks of the first.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves once nothing is queued or in flight. */
  idle(): Promise<void>;
}

/** The outcome of one item: a result, a result that comes later, or the error that rejects it. */
export type Outcome<Result> = Result | Error | Promise<Result>;

/** The weight of a batch, which the event loop writes at once. A heavier single item forms its own batch. */
const weightMax = 1_048_576;
/** How many items must wait, or for how long, before a parallel batch starts. */
const parallelItemsMin = 200;
const parallelAfterMs = 50;

export interface BatcherOptions<Item, Result> {
  readonly sizeMax: number;
  /** The weight of an item in characters. A batch closes before it exceeds `weightMax`. */
  readonly weight: (item: Item) => number;
  readonly inFlightMax: number;
  /**
   * Returns one outcome per item, in order. An `Error` rejects its item; a rejection rejects all items. Later batches
   * do not wait for outcomes that are still promises.
   */
  readonly run: (items: Item[]) => Promise<Outcome<Result>[]>;
  readonly onBatch?: (size: number) => void;
}

export function batcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): Batcher<Item, Result> {
  interface Queued {
    readonly item: Item;
    readonly resolve: (result: Result | Promise<Result>) => void;
    readonly reject: (error: unknown) => void;
  }
  let queue: Queued[] = [];
  let inFlight = 0;
  let scheduled = false;
  let parallelTimer: NodeJS.Timeout | null = null;
  let idleWaiters: (() => void)[] = [];

  function startBatches(parallel = false): void {
    scheduled = false;
    while (queue.length > 0 && (mayStart() || (parallel && inFlight < options.inFlightMax))) {
      const batch = queue.slice(0, nextBatchSize());
      queue = queue.slice(batch.length);
      inFlight++;
      void run(batch);
    }
    if (queue.length > 0) {
      parallelTimer ??= setTimeout(() => {
        parallelTimer = null;
        startBatches(true);
      }, parallelAfterMs);
    }
  }

  function resolveIdle(): void {
    if (inFlight > 0 || queue.length > 0) return;
    for (const resolve of idleWaiters) resolve();
    idleWaiters = [];
  }

  function mayStart(): boolean {
    return inFlight === 0 || (inFlight < options.inFlightMax && queue.length >= parallelItemsMin);
  }

  function nextBatchSize(): number {
    let weight = 0;
    for (const [index, { item }] of queue.entries()) {
      weight += options.weight(item);
      if (index === options.sizeMax || (index > 0 && weight > weightMax)) return index;
    }
    return queue.length;
  }

  async function run(batch: Queued[]): Promise<void> {
    options.onBatch?.(batch.length);
    let settle: (one: Queued, index: number) => void;
    try {
      const outcomes = await options.run(batch.map((one) => one.item));
      settle = (one, index) => {
        const outcome = outcomes[index];
        if (outcome instanceof Error) one.reject(outcome);
        else one.resolve(outcome as Result | Promise<Result>);
      };
    } catch (error) {
      settle = (one) => one.reject(error);
    }
    inFlight--;
    if (parallelTimer) clearTimeout(parallelTimer);
    parallelTimer = null;
    // Send the next batch first: the database works on it while the callers of this one get their results.
    startBatches();
    batch.forEach(settle);
    resolveIdle();
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        // After the current turn of the event loop, so that requests that were read together share a batch.
        if (!scheduled && (mayStart() || parallelTimer === null)) {
          scheduled = true;
          setImmediate(startBatches);
        }
      });
    },
    idle() {
      return new Promise((resolve) => {
        idleWaiters.push(resolve);
        setImmediate(resolveIdle);
      });
    },
  };
}

/**
 * Two batchers: long items have one of their own, so that short ones of other workspaces do not wait until the long ones before
 * them are written.
 */
export function lanes<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const short = batcher(options);
  const long = batcher({ ...options, inFlightMax: 1 });
  return {
    add: (item) => (options.weight(item) > shortMax ? long : short).add(item),
    async idle() {
      await Promise.all([short.idle(), long.idle()]);
    },
  };
}

const shortMax = 65_536;
