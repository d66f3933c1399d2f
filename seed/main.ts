import { showProgress } from '../src/cli/client/progress.ts';
import { type Context, runCommand } from '../src/cli/command.ts';
import { createFirstWorkspace, firstOwner } from '../src/cli/server/first-workspace.ts';
import { migrateAt, openForCommand } from '../src/cli/server/open-database.ts';
import { checkSchema } from '../src/store/migrate.ts';
import { type Asked, readArguments, usage } from './arguments.ts';
import { seed } from './seed.ts';

/**
 * `npm run seed -- --executions N`: a new agent with so many executions, in the database that `npm start` uses, whether
 * or not a server runs on it.
 */

const asked = readArguments(process.argv.slice(2));
if (typeof asked === 'string') {
  console.error(`seed: ${asked}\n\n${usage}`);
  process.exit(2);
}
await runCommand((context) => run(context, asked));

async function run(context: Context, { json, ...asked }: Asked): Promise<void> {
  const { db, connection } = await openForCommand(context);
  await (context.config.migrate === 'auto' ? migrateAt(connection) : checkSchema(db));
  await createFirstWorkspace(db, context);
  const owner = await firstOwner(db, undefined);
  const begun = performance.now();
  const { end, ...progress } = showProgress();
  const parts = { db, connection, owner, signal: context.lifetime.stopping, ...progress };
  const { agent, rows } = await seed(parts, asked).finally(end);
  if (json) {
    console.log(JSON.stringify({ agentId: agent.wireId, key: agent.key }));
    return;
  }
  const seconds = Math.max(1, Math.round((performance.now() - begun) / 1_000));
  console.log(`${rows.toLocaleString('en-US')} rows in ${seconds} s.`);
  console.log(`Agent: ${agent.wireId}`);
  console.log(`Key:   ${agent.key}   (shown this once)`);
}
