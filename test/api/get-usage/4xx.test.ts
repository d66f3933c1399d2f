import { after } from 'node:test';
import { getUsage } from '../../../src/contract/usage.ts';
import { testRefusals } from '../../harness/refusals.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);

testRefusals(service, getUsage, { path: '/api/v1/usage' });
