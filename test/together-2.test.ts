import { testTogether } from '../harness/together.ts';

await testTogether();
