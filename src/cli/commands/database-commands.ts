import type { Command } from 'commander';
import { CallFailure } from '../../core/failure.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { bound, group, listed, wholeNumber } from '../arguments.ts';
import { CommandFailure } from '../client/failure.ts';
import { type Context, runCommand } from '../command.ts';

/** The commands that work on the database, whether or not a server runs on it. */
export function databaseCommands(program: Command): void {
  const migrate = program.command('migrate');
  migrate.description('bring the schema of the database up to date');
  migrate.action(() =>
    run(async (context) => (await import('../server/migrate.ts')).migrate(context)),
  );

  keyCommands(group(program, 'keys', 'issue, list, revoke and rotate API keys'));
  userCommands(group(program, 'users', 'list accounts, reset passwords'));
  planCommands(group(program, 'plan', 'set what a workspace may use'));
  secretCommands(group(program, 'secrets', 'rotate the secret of stored credentials'));
}

const keys = () => import('../server/keys.ts');
const workspaceOption = ['--workspace <id>', 'another workspace than the first'] as const;
const jsonOption = ['--json', 'answer in JSON, an object a line'] as const;

function keyCommands(command: Command): void {
  const limit = ['calls let past, or none for no limit', bound] as const;
  command
    .command('create')
    .description('issue a key and show it, once; makes the first workspace where there is none')
    .requiredOption('--name <name>', 'for people')
    .requiredOption('--permission <list>', 'of execute, read, cancel and manage', listed)
    .option('--agent <id>', 'tie it to this agent; may be repeated', listed)
    .option('--requests-per-minute <n>', ...limit)
    .option('--requests-per-hour <n>', ...limit)
    .option('--requests-per-day <n>', ...limit)
    .option('--expires-at <time>', 'ISO 8601; never unless given')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action((options) => run(async (context) => (await keys()).createKey(context, options)));
  command
    .command('list')
    .description('all keys of a workspace, newest first, without their secrets')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action((options) => run(async (context) => (await keys()).listKeys(context, options)));
  command
    .command('revoke')
    .description('end a key at once')
    .argument('<id>', 'of the key')
    .option(...workspaceOption)
    .option(...jsonOption)
    .action((id, options) =>
      run(async (context) => (await keys()).revokeKey(context, id, options)),
    );
  command
    .command('rotate')
    .description('issue a key like an old one, which then ends')
    .argument('<id>', 'of the old key')
    .option('--grace-seconds <n>', 'how long the old one still works; 0 unless given', wholeNumber)
    .option(...workspaceOption)
    .option(...jsonOption)
    .action((id, options) =>
      run(async (context) => (await keys()).rotateKey(context, id, options)),
    );
}

function userCommands(command: Command): void {
  const users = () => import('../server/users.ts');
  command
    .command('list')
    .description('everybody who has an account, with their workspaces')
    .option(...jsonOption)
    .action((options) => run(async (context) => (await users()).listUsers(context, options)));
  command
    .command('reset-password')
    .description('make up a new password, show it once, and sign the user out everywhere')
    .argument('<email>', 'of the user')
    .option('--password-stdin', 'take the password from standard input instead')
    .option(...jsonOption)
    .action((email, options) =>
      run(async (context) => (await users()).resetPassword(context, email, options)),
    );
}

function planCommands(command: Command): void {
  command
    .command('set')
    .description('set the plan of a workspace, from its next call on')
    .requiredOption('--name <name>', 'of the plan')
    .requiredOption('--actions-per-month <n>', 'AI Actions, or none for no cap', bound)
    .option(...workspaceOption)
    .option(...jsonOption)
    .action((options) =>
      run(async (context) => (await import('../server/plan.ts')).setPlan(context, options)),
    );
}

function secretCommands(command: Command): void {
  command
    .command('rotate')
    .description(
      'Seals every stored credential under a new secret. Stop all servers first: they know only the old one. ' +
        'Everyone is signed out, since the secret signs cookies as well.\n\n' +
        'With the embedded database the new secret replaces the one in the data directory. Where CUELINE_SECRET is ' +
        'set, that is the old one; the new one is made up and printed alone on standard output. Start every process ' +
        'with it from then on.',
    )
    .summary('seal stored credentials under a new secret; signs everyone out')
    .option('--new-secret-stdin', 'with CUELINE_SECRET: take the new one from standard input')
    .action((options) =>
      run(async (context) => (await import('../server/secrets.ts')).rotateSecret(context, options)),
    );
}

/** What is refused here is for the user to mend, as where the API refuses it. */
function run(command: (context: Context) => Promise<void>): Promise<never> {
  return runCommand((context) =>
    command(context).catch((error: unknown) => {
      const plain = error instanceof CallFailure || error instanceof CommandFailure;
      throw plain ? new StartupFailure(error.message, { cause: error }) : error;
    }),
  );
}
