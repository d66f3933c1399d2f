import { writeFileSync } from 'node:fs';
import { wireTypes } from './wire-types.ts';

/** A step of the build: the packaged client's types of the contract, into the file that is named. */
const [file = 'dist/client/wire.d.ts'] = process.argv.slice(2);
writeFileSync(file, wireTypes());
