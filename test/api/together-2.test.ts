import { testTogether } from '../harness/together.ts';

testTogether('api', 2);
