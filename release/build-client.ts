import { join } from 'node:path';
import { buildClientPackage } from './client-package.ts';

/** `npm run build:client`: writes the package of the client into `out/client`. */
await buildClientPackage(join(import.meta.dirname, '../out/client'));
