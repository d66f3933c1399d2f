import { DatabaseUnavailable } from './database-error.ts';

/** A number of places, and a line to wait in for one of them. */
export interface Places {
  /** Throws where none became free in time. */
  take(withinMs: number): Promise<void>;
  giveBack(): void;
}

export function createSemaphore(total: number): Places {
  let free = total;
  const line: (() => void)[] = [];

  return {
    async take(withinMs) {
      if (free > 0) {
        free--;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const come = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          line.splice(line.indexOf(come), 1);
          reject(new DatabaseUnavailable(`no connection became free within ${withinMs} ms`));
        }, withinMs);
        line.push(come);
      });
    },
    giveBack() {
      const next = line.shift();
      if (next) next();
      else free++;
    },
  };
}
