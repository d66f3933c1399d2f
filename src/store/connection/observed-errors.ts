import { AsyncLocalStorage } from 'node:async_hooks';
import { type Driver, type LogEvent, PostgresDialect } from 'kysely';

/**
 * Finds the database error behind the error of a library that hides it. Without it, a lookup that got no connection could
 * not be distinguished from a bug.
 */

interface Observed {
  error: unknown;
}

const observer = new AsyncLocalStorage<Observed>();

/** Runs `work`. `lastError` returns the error of its last statement or connection that failed, else undefined. */
export function observeErrors<T>(work: (lastError: () => unknown) => Promise<T>): Promise<T> {
  const observed: Observed = { error: undefined };
  return observer.run(observed, () => work(() => observed.error));
}

/** The `log` option of a `Kysely`: reports failed statements. */
export function reportFailedStatement(event: LogEvent): void {
  if (event.level === 'error') report(event.error);
}

/** Also reports that no connection was available, which kysely does not log. */
export class ObservedDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async (options) => {
      try {
        return await acquire(options);
      } catch (error) {
        report(error);
        throw error;
      }
    };
    return driver;
  }
}

function report(error: unknown): void {
  const observed = observer.getStore();
  if (observed) observed.error = error;
}
