import { writeFileSync } from 'node:fs';
import { wireTypes } from './wire-types.ts';

/** Build step: writes the wire types of the packaged client to the given file. */
const [file = 'dist/client/wire.d.ts'] = process.argv.slice(2);
writeFileSync(file, wireTypes());
