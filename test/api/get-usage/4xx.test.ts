import { after } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { getUsage } from '../../../src/contract/workspace/usage.ts';

const service = await startService();
after(service.close);

testRefusals(service, getUsage, { path: '/api/v1/usage' });
