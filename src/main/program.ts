import { Command } from 'commander';
import { runCommand } from './command.ts';
import { version } from './version.ts';

/**
 * The command line. Each command is imported when it is called, so that a small one starts at once: those of a server
 * and those that work on its database from `main/`, those that call a running server from `cli/`.
 */
export const program = new Command('cueline')
  .description(
    'Self-hosted agent execution service: versioned prompts, run over HTTP, every run a record.',
  )
  .version(version)
  .showHelpAfterError();

const serving = {
  start: 'serve the API and work, in one process',
  api: 'only serve the API',
  worker: 'only work on what others accepted',
} as const;
for (const role of ['start', 'api', 'worker'] as const) {
  program
    .command(role)
    .description(serving[role])
    .action(() => runCommand(async (context) => (await import('./serve.ts')).serve(context, role)));
}

program
  .command('migrate')
  .description('bring the schema of the database up to date')
  .action(() => runCommand(async (context) => (await import('./migrate.ts')).migrate(context)));
