import type { Logger } from 'pino';
import { type Config, readConfig } from '../config.ts';
import { StartupFailure } from '../core/startup-failure.ts';
import { createLogger, flushStderr } from '../log.ts';
import { type Life, live } from './server/process-lifetime.ts';

/** What a command of `main/` is given. */
export interface Context {
  readonly config: Config;
  readonly log: Logger;
  readonly life: Life;
}

/** What ends in order has this long beyond the runs that are waited for. */
const closeMsMax = 10_000;

/** Runs one command to its end, and with it the process. */
export async function runCommand(command: (context: Context) => Promise<void>): Promise<never> {
  const config = readOrExit();
  const log = createLogger({ level: config.logLevel });
  // As without a listener, but for the wait: what was to be said last is not lost where a reader is only late.
  process.on('uncaughtException', async (error) => {
    console.error(error);
    await flushStderr();
    process.exit(1);
  });
  for (const warning of config.warnings) log.warn(warning);
  const code = await live((life) => command({ config, log, life }), {
    endMsMax: config.drainMs + closeMsMax,
    onWord: (line) => log.info(line),
    onError: complain,
  });
  await flushStderr();
  process.exit(code);
}

function readOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    complain(error);
    process.exit(1);
  }
}

/** What the user can mend is said as it is; anything else is a fault of ours, with its stack. */
function complain(error: unknown): void {
  const plain = error instanceof StartupFailure;
  console.error(plain ? `cueline: ${error.message}` : error);
}
