import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { debianPostgres } from '../../harness/debian-postgres.ts';
import { startReplication } from '../../harness/replication.ts';
import { parseDatabaseUrl } from '../../src/db/connect.ts';
import { detectPooler } from '../../src/db/detect-pooler.ts';
import { openDashboard } from './harness.ts';

/** Pages while the primary of the database is lost and the standby takes over. */

const bin = debianPostgres();
const skip = bin === null && 'no PostgreSQL is installed: apt-get install postgresql';

test('pages say that they reconnect, and load by themselves', { skip }, async () => {
  if (bin === null) return;
  const servers = await startReplication(bin);
  const connection = await detectPooler(parseDatabaseUrl(servers.url()));
  const { service, visit } = await openDashboard({
    database: { connection, drop: () => servers.stop() },
    config: { leaseMs: 3_000 },
  });
  await addAgent(service);
  const { page, check, announced } = await visit('/agents', { as: 'owner' });
  await page.getByRole('link', { name: 'Agent', exact: true }).waitFor();
  const fresh = await visit('/agents', { as: 'owner' });
  await fresh.page.getByRole('table').waitFor();
  await servers.primary.kill();
  await page.getByRole('link', { name: 'API keys' }).click();
  await announced('Reconnecting…');
  await check();
  await fresh.page.reload();
  await fresh.announced('Reconnecting… The page loads once the server is ready.');
  await fresh.check();
  await servers.standby.promote();
  await announced('Reconnected.');
  await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  await fresh.page.getByRole('link', { name: 'Agent', exact: true }).waitFor();
  // Connections were lost on purpose.
  service.faults.splice(0);
});
