import { testTogether } from '../harness/together.ts';

testTogether('store', 1);
