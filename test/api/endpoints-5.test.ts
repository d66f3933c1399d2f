import { testEndpoints } from '../harness/endpoints.ts';

testEndpoints(5);
