import { after } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listMembers } from '../../../src/contract/workspace/members.ts';

const service = await startService();
after(service.close);

testRefusals(service, listMembers, { path: '/api/v1/members' });
