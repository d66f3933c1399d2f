import { testTogether } from '../harness/together.ts';

testTogether('workflow', 1);
