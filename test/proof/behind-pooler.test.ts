import { test } from 'node:test';
import { behindPooler } from '../../proof/claims/behind-pooler.ts';
import { poolerVersion } from '../../proof/pooler.ts';
import { proveInTest } from './prove.ts';

if (poolerVersion() !== null) proveInTest(behindPooler);
else test(behindPooler.says, { skip: 'pgbouncer is not installed: apt-get install pgbouncer' });
