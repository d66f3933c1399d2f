import { providerOutage } from '../../proof/claims/provider-outage.ts';
import { proveInTest } from './prove.ts';

proveInTest(providerOutage);
