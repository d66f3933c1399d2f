import { showProgress } from '../src/cli/client/progress.ts';
import { type Context, runCommand } from '../src/cli/command.ts';
import { createFirstWorkspace, firstOwner } from '../src/cli/server/first-workspace.ts';
import { migrateAt, openForCommand } from '../src/cli/server/open-database.ts';
import { checkSchema } from '../src/db/migrations/migrate.ts';
import { readArguments, type SeedArguments, usage } from './arguments.ts';
import { seed } from './seed.ts';

/**
 * `npm run seed -- --executions N`: creates an agent with N executions in the database of `npm
 * start`, with or without a running server.
 */

const options = readArguments(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(`seed: ${options}\n\n${usage}`);
  process.exit(2);
}
await runCommand((context) => run(context, options));

async function run(context: Context, { json, ...options }: SeedArguments): Promise<void> {
  const { db, connection } = await openForCommand(context);
  await (context.config.migrate === 'auto' ? migrateAt(connection) : checkSchema(db));
  await createFirstWorkspace(db, context);
  const owner = await firstOwner(db, undefined);
  const startedMs = performance.now();
  const { end, ...progress } = showProgress();
  const deps = { db, connection, owner, signal: context.lifetime.stopping, ...progress };
  const { agent, rows } = await seed(deps, options).finally(end);
  if (json) {
    console.log(JSON.stringify({ agentId: agent.wireId, key: agent.key }));
    return;
  }
  const seconds = Math.max(1, Math.round((performance.now() - startedMs) / 1_000));
  console.log(`${rows.toLocaleString('en-US')} rows in ${seconds} s.`);
  console.log(`Agent: ${agent.wireId}`);
  console.log(`Key:   ${agent.key}   (shown once)`);
}
