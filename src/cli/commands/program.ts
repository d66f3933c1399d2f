import { Command } from 'commander';
import { runCommand } from '../command.ts';
import { version } from '../version.ts';
import { clientCommands } from './client-commands.ts';
import { databaseCommands } from './database-commands.ts';
import { importCommands } from './import-commands.ts';

/**
 * The command line. Each command imports its implementation when called, for a fast start. Commands
 * in `server/` serve or open the database; commands in `client/` call a running server.
 */
export const program = new Command('cueline')
  .description(
    'Self-hosted agent execution service: versioned prompts, executed over HTTP, every execution a record.',
  )
  .version(version)
  .helpCommand(false)
  .configureHelp({ subcommandTerm })
  .showHelpAfterError('Run with --help for usage.');

// Options follow the command they belong to. A command may have subcommands.
program.enablePositionalOptions();
program.commandsGroup('Serve:');
const roleDescriptions = {
  start: 'serve the API and execute, in one process',
  api: 'serve the API only',
  worker: 'execute accepted calls only',
} as const;
for (const role of ['start', 'api', 'worker'] as const) {
  program
    .command(role)
    .description(roleDescriptions[role])
    .action(() =>
      runCommand(async (context) => (await import('../server/serve.ts')).serve(context, role)),
    );
}

program.commandsGroup('Database (with or without a running server):');
databaseCommands(program);

program.commandsGroup('Client (needs a running server and an API key):');
clientCommands(program);

program.commandsGroup('Files (needs no Cueline server):');
importCommands(program);

/** Omits the options from the command list, to keep the column narrow. */
function subcommandTerm(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...names].join(' ');
}
