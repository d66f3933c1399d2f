import { unknownKeys } from '../../proof/claims/unknown-keys.ts';
import { proveInTest } from './prove.ts';

proveInTest(unknownKeys);
