import { testTogether } from '../harness/together.ts';

testTogether('flow', 2);
