import { testTogether } from '../harness/together.ts';

testTogether('dashboard', 2);
