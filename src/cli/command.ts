import type { Logger } from 'pino';
import { StartupFailure } from '../core/startup-failure.ts';
import { type Config, readConfig } from '../process/config/config.ts';
import { createLogger, flushStderr } from '../process/log.ts';
import { type Lifetime, runWithLifetime } from './process-lifetime.ts';

/** Dependencies of a command that opens the database. */
export interface Context {
  readonly config: Config;
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

/** Time for the shutdown in addition to draining executions. */
const closeMsMax = 10_000;

/** Runs one command and exits the process. */
export async function runCommand(command: (context: Context) => Promise<void>): Promise<never> {
  const config = readOrExit();
  const log = createLogger({ level: config.logLevel });
  // Same as the default behavior, but flushes the last output to a slow reader first.
  process.on('uncaughtException', async (error) => {
    console.error(error);
    await flushStderr();
    process.exit(1);
  });
  for (const warning of config.warnings) log.warn(warning);
  const code = await runWithLifetime((lifetime) => command({ config, log, lifetime }), {
    shutdownMsMax: config.drainMs + closeMsMax,
    onMessage: (line) => log.info(line),
    onError: reportError,
  });
  await flushStderr();
  process.exit(code);
}

function readOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    reportError(error);
    process.exit(1);
  }
}

/** Prints an expected failure without a stack trace, any other error with it. */
function reportError(error: unknown): void {
  const isExpected = error instanceof StartupFailure;
  console.error(isExpected ? `cueline: ${error.message}` : error);
}
