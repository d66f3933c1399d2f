import { type Cluster, startCluster } from './cluster.ts';
import { addressVariable } from './database.ts';

/** Once for each `npm test` (`--test-global-setup`): one PostgreSQL for all files. */

let cluster: Cluster | undefined;

export async function globalSetup(): Promise<void> {
  cluster = await startCluster();
  process.env[addressVariable] = JSON.stringify(cluster.admin);
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop();
}
