import * as z from "zod/mini";
import { membersOf, validate } from "./jsonSchemas.js";

/** The dtype names by item and leaf path that substrax stores as the JSON item `dtypes`. */
export type RecordedDtypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

const dtypesSchema = membersOf(membersOf(z.string()));

/** @throws CheckpointValidationError listing every member that is no dtype name. */
export const parseRecordedDtypes = (payload: unknown): RecordedDtypes => validate(dtypesSchema, payload, "the checkpoint's dtypes item");
