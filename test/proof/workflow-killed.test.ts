import { workflowKilled } from '../../proof/claims/workflow-killed.ts';
import { proveInTest } from './prove.ts';

proveInTest(workflowKilled);
