import { Command } from 'commander';
import { runCommand } from './command.ts';
import { clientCommands } from './commands/client-commands.ts';
import { databaseCommands } from './commands/database-commands.ts';
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
  .helpCommand(false)
  .configureHelp({ subcommandTerm })
  .showHelpAfterError('Try it with --help.');

// Options stand after the command that they belong to, and commands of one name may have others below them.
program.enablePositionalOptions();
program.commandsGroup('Serve:');
const serving = {
  start: 'serve the API and work, in one process',
  api: 'only serve the API',
  worker: 'only work on what others accepted',
} as const;
for (const role of ['start', 'api', 'worker'] as const) {
  program
    .command(role)
    .description(serving[role])
    .action(() =>
      runCommand(async (context) => (await import('./server/serve.ts')).serve(context, role)),
    );
}

program.commandsGroup('Work on the database, without a server:');
databaseCommands(program);

program.commandsGroup('Call a server, with an API key:');
clientCommands(program);

/** How a command is named in the list of all: without its options, which make the column wide. */
function subcommandTerm(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...names].join(' ');
}
