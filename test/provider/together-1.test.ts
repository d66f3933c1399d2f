import { testTogether } from '../harness/together.ts';

testTogether('provider', 1);
