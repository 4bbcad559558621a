import * as z from "zod/mini";
import { isJsonObject, type JsonValue } from "../../bytes/json.js";
import { membersOf, validate } from "./jsonSchemas.js";

/** The dtype names by item and leaf path that substrax stores as the JSON item `dtypes`. */
export type RecordedDtypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

const dtypesSchema = membersOf(membersOf(z.string()));

/** @throws CheckpointValidationError listing every member that is no dtype name. */
export const parseRecordedDtypes = (payload: JsonValue): RecordedDtypes =>
  isRecordedDtypes(payload) ? payload : validate(dtypesSchema, payload, "the checkpoint's dtypes item");

/** Asked before the schema is, which takes milliseconds for some thousand names that are all right. */
const isRecordedDtypes = (payload: JsonValue): payload is Record<string, Record<string, string>> =>
  isJsonObject(payload) && Object.values(payload).every((item) => isJsonObject(item) && Object.values(item).every(isText));

const isText = (value: JsonValue): boolean => typeof value === "string";
