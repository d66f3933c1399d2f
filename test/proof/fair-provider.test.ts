import { fairProvider } from '../../proof/claims/fair-provider.ts';
import { proveInTest } from './prove.ts';

proveInTest(fairProvider);
