import { commitUnanswered } from '../../proof/claims/commit-unanswered.ts';
import { proveInTest } from './prove.ts';

proveInTest(commitUnanswered);
