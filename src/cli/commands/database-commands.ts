import type { Command } from 'commander';
import { CallFailure } from '../../core/failure.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { collectList, group, numberOrNone, wholeNumber } from '../arguments.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { type Context, runCommand } from '../command.ts';

/** Commands that open the database, with or without a running server. */
export function databaseCommands(program: Command): void {
  const migrate = program.command('migrate');
  migrate.description('migrate the database schema to this version');
  migrate.action(opening(async () => (await import('../server/open-database.ts')).runMigrate));

  for (const [name, description] of [
    ['backup', 'write the embedded database and its secret to a new file, also while it is in use'],
    ['restore', 'restore such a file into an empty data directory'],
  ] as const) {
    program
      .command(name)
      .description(description)
      .argument('<file>', 'a compressed tar file')
      .action(opening(async () => (await import('../server/backup-command.ts'))[name]));
  }

  keyCommands(group(program, 'keys', 'issue, list, revoke and rotate API keys'));
  workspaceCommands(group(program, 'workspaces', 'create workspaces'));
  userCommands(group(program, 'users', 'list users and reset passwords'));
  planCommands(group(program, 'plan', 'set the plan of a workspace'));
  secretCommands(
    group(program, 'secrets', 'rotate or reset the secret that encrypts stored credentials'),
  );
}

const keys = () => import('../server/keys-command.ts');
const workspaceOption = ['--workspace <id>', 'id of the workspace (default: the first)'] as const;
const jsonOption = ['--json', 'print JSON, one object per line'] as const;

function keyCommands(command: Command): void {
  const limit = ['allowed calls, or none for unlimited', numberOrNone] as const;
  command
    .command('create')
    .description('issue a key and print it once; creates the first workspace if there is none')
    .requiredOption('--name <name>', 'display name')
    .requiredOption(
      '--permission <list>',
      'comma-separated: execute, read, cancel, manage, own',
      collectList,
    )
    .option(
      '--agent <id>',
      'restrict the key to this agent (id, slug or alias); repeatable',
      collectList,
    )
    .option('--requests-per-minute <n>', ...limit)
    .option('--requests-per-hour <n>', ...limit)
    .option('--requests-per-day <n>', ...limit)
    .option('--expires-at <time>', 'expiry time in ISO 8601 (default: never)')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await keys()).createKey));
  command
    .command('list')
    .description('list the keys of a workspace, newest first, without their secrets')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await keys()).listKeys));
  command
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'id of the key')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await keys()).revokeKey));
  command
    .command('rotate')
    .description('replace a key by a new one with the same settings')
    .argument('<id>', 'id of the old key')
    .option(
      '--grace-seconds <n>',
      'seconds for which the old key stays valid (default: 0)',
      wholeNumber,
    )
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await keys()).rotateKey));
}

function workspaceCommands(command: Command): void {
  command
    .command('create')
    .description('create a workspace with its first owner; prints the password of a new user once')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--owner <email>', 'e-mail address of a new or an existing user')
    .option(...jsonOption)
    .action(opening(async () => (await import('../server/workspaces-command.ts')).createWorkspace));
  command
    .command('rename')
    .description('rename a workspace')
    .requiredOption('--name <name>', 'display name')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await import('../server/workspaces-command.ts')).renameWorkspace));
}

function userCommands(command: Command): void {
  const users = () => import('../server/users-command.ts');
  command
    .command('list')
    .description('list all users with their workspaces')
    .option(...jsonOption)
    .action(opening(async () => (await users()).listUsers));
  command
    .command('reset-password')
    .description('reset a password, print the new one once, and sign the user out everywhere')
    .argument('<email>', 'e-mail address of the user')
    .option('--password-stdin', 'read the new password from standard input')
    .option(...jsonOption)
    .action(opening(async () => (await users()).resetPassword));
}

function planCommands(command: Command): void {
  command
    .command('set')
    .description('set the plan of a workspace; applies from the next call on')
    .requiredOption('--name <name>', 'name of the plan')
    .requiredOption(
      '--actions-per-month <n>',
      'AI Actions per month, or none for unlimited',
      numberOrNone,
    )
    .option(...workspaceOption)
    .option(...jsonOption)
    .action(opening(async () => (await import('../server/workspaces-command.ts')).setPlan));
}

function secretCommands(command: Command): void {
  command
    .command('rotate')
    .description(
      'Re-encrypts every stored credential with a new secret. Stop all servers first: they only have the old secret. ' +
        'Signs every user out, because the secret also signs session cookies.\n\n' +
        'With the embedded database, the new secret replaces the one in the data directory. If CUELINE_SECRET is ' +
        'set, it is the old secret, and the command prints a generated new one to standard output. Then start every ' +
        'process with the new secret.',
    )
    .summary('re-encrypt stored credentials with a new secret; signs everyone out')
    .option('--new-secret-stdin', 'with CUELINE_SECRET: read the new secret from standard input')
    .action(opening(async () => (await import('../server/secrets.ts')).rotateSecret));
  command
    .command('reset')
    .description(
      'Accepts the current secret after the old one is lost. Credentials that were encrypted with the old one stay unreadable until they are stored again.',
    )
    .summary('accept the current secret after the old one is lost')
    .action(opening(async () => (await import('../server/secrets.ts')).resetSecret));
}

/** The action of a command: passes the context, the arguments and the options. */
function opening(load: () => Promise<(context: Context, ...given: never[]) => Promise<void>>) {
  return (...given: unknown[]) =>
    runCommand(async (context) => {
      try {
        await (await load())(context, ...(given.slice(0, -1) as never[]));
      } catch (error) {
        // The user can fix these: a message without a stack trace.
        const isExpected = error instanceof CallFailure || error instanceof CommandFailure;
        throw isExpected ? new StartupFailure(error.message, { cause: error }) : error;
      }
    });
}
