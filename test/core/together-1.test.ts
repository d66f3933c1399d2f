import { testTogether } from '../harness/together.ts';

testTogether('core', 1);
