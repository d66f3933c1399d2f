import type { Logger } from 'pino';
import { repeatedWarnings } from './log.ts';

export type BackgroundFailures = ReturnType<typeof backgroundFailures>;

/** Warns of failures outside of requests. After `close`, connections end under whatever still uses them: no warning. */
export function backgroundFailures(logger: Logger) {
  let closed = false;
  const warn = repeatedWarnings(logger);
  const report = (error: unknown, message: string) => {
    if (!closed) warn(error, message);
  };
  return {
    reporter: (message: string) => (error: unknown) => report(error, message),
    reportOperation: (error: unknown, operation: string) => report(error, `${operation} failed`),
    close() {
      closed = true;
    },
  };
}
