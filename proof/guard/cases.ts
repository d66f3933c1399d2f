import { addressCases } from './address-cases.ts';
import type { GuardCase } from './guard-case.ts';
import { nameCases } from './name-cases.ts';
import { urlCases } from './url-cases.ts';

export const guardCases: readonly GuardCase[] = [...addressCases, ...nameCases, ...urlCases];
