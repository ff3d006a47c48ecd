/* How Python reaches kernels, and single rows reach them without Python.

A kernel is machine code that takes the address of a frame, an array of words of 64 bits. The words
of its arguments stand there one after the other: a number is one word; an array is the address of
its first element, its shape and its strides; a tuple is its fields; None is nothing. The kernel
overwrites the first words with its result and returns DONE.

    call(codes, arguments)           find the code by the types of the arguments and run it
    bind(codes, arguments, place)    the same, to be run again and again with another whole number
    run(bound, number)
    flatten(arguments)               the key that a code is found by, and the words, as bytes

A code is a tuple, see enum below; codes is a dict of them by key. What this file does with
arguments is defined in plain Python by kernels/compiling/calling.py, and what it does with single
rows by kernels/single_rows.py:

    row(data, indices, indptr)       room for a row
    remember(row, numbers, complete)
    fill_row(row, numbers, features)
    learn_row(enter, pass, leave, count[, row, numbers, features])
    decide_row(predict, count[, row, numbers, features])

A wheel has kernels linked in, compiled for some levels of its processor. Its build defines
HAS_KERNELS and generates kernel_table.h, which is included below and defines

    extern word kernel_0123_v3(word *), kernel_0123_v2(word *), …;
    static const char table_sources[] = "digest of the Python files that they were compiled from";
    static const char *const table_levels[] = {"x86-64-v3", "x86-64-v2"};     at most MOST_LEVELS
    static const struct kernel table[] = {                                    sorted by symbol
        {"kernel_0123", "form of the result", {kernel_0123_v3, kernel_0123_v2}}, …
    };

    kernel(symbol, level)            its address and the form of its result; None where it has none
    levels()                         the levels that this processor has, the best first

SOURCE_DIGEST is the SHA-256 of this file, by which a checkout notices that the module is stale. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif

typedef int64_t word;
typedef word (*kernel_code)(word *frame);

enum { MOST_WORDS = 256, LONGEST_KEY = 192, MOST_DIMENSIONS = 4, RESULT_WORDS = 4, MOST_LEVELS = 2 };
enum { DONE = 1 };
enum { ADDRESS, KINDS, MAKE, NAME }; /* the fields of a code */
enum { FITS, UNKNOWN, FAILED };      /* arguments; the last with an exception */

static PyTypeObject *array_type, *float64_type, *int64_type, *uint64_type; /* of NumPy */
static PyObject *dtype_name;

/* Arguments to words. */

struct frame {
    word words[MOST_WORDS], key[LONGEST_KEY];
    int n_words, n_key;
};

static int put_array(struct frame *frame, PyObject *array)
{
    Py_buffer view;
    PyObject *dtype = PyObject_GetAttr(array, dtype_name);
    if (dtype == NULL || PyObject_GetBuffer(array, &view, PyBUF_STRIDES) < 0) {
        Py_XDECREF(dtype);
        PyErr_Clear();
        return UNKNOWN;
    }
    int n = view.ndim, fits = n <= MOST_DIMENSIONS && view.itemsize > 0;
    if (fits) {
        word *words = frame->words + frame->n_words, *key = frame->key + frame->n_key;
        word address = (word)(intptr_t)view.buf, bits = address;
        words[0] = address;
        for (int k = 0; k < n; k++) {
            words[1 + k] = view.shape[k];
            words[1 + n + k] = view.strides[k];
            bits |= view.shape[k] > 1 ? view.strides[k] : 0;
        }
        int aligned = view.len == 0 || bits % view.itemsize == 0;
        int by_rows = PyBuffer_IsContiguous(&view, 'C'), by_columns = PyBuffer_IsContiguous(&view, 'F');
        key[0] = (word)(intptr_t)dtype; /* the code keeps it alive */
        key[1] = n | by_rows << 8 | by_columns << 9 | aligned << 10 | !view.readonly << 11;
        frame->n_words += 1 + 2 * n;
        frame->n_key += 2;
    }
    Py_DECREF(dtype);
    PyBuffer_Release(&view);
    return fits ? FITS : UNKNOWN;
}

static int put_number(struct frame *frame, PyObject *value, PyTypeObject *type)
{
    word *place = frame->words + frame->n_words++;
    if (type == &PyLong_Type || type == &PyBool_Type) {
        *place = PyLong_AsLongLong(value);
        return *place == -1 && PyErr_Occurred() ? FAILED : FITS;
    }
    if (type == &PyFloat_Type || type == float64_type) {
        double number = PyFloat_AsDouble(value);
        memcpy(place, &number, sizeof number);
        return FITS;
    }
    if (type == int64_type || type == uint64_type) {
        PyObject *whole = PyNumber_Index(value);
        if (whole == NULL)
            return FAILED;
        *place = (word)PyLong_AsUnsignedLongLongMask(whole);
        Py_DECREF(whole);
        return FITS;
    }
    return UNKNOWN;
}

static int put_tuple(struct frame *frame, PyObject *values)
{
    Py_ssize_t n = PyTuple_Size(values);
    int found = FITS;
    for (Py_ssize_t k = 0; k < n && found == FITS; k++) {
        PyObject *value = PyTuple_GetItem(values, k);
        PyTypeObject *type = Py_TYPE(value);
        if (frame->n_words > MOST_WORDS - 2 - 2 * MOST_DIMENSIONS || frame->n_key > LONGEST_KEY - 3)
            return UNKNOWN;
        frame->key[frame->n_key++] = (word)(intptr_t)type;
        if (type == array_type)
            found = put_array(frame, value);
        else if (PyTuple_Check(value)) {
            frame->key[frame->n_key++] = PyTuple_Size(value);
            found = put_tuple(frame, value);
        } else if (value != Py_None)
            found = put_number(frame, value, type);
    }
    return found;
}

static int put_arguments(struct frame *frame, PyObject *arguments)
{
    frame->n_words = frame->n_key = 0;
    if (PyTuple_Check(arguments))
        return put_tuple(frame, arguments);
    PyErr_SetString(PyExc_TypeError, "Arguments of a kernel must be a tuple.");
    return FAILED;
}

static PyObject *flatten(PyObject *module, PyObject *arguments)
{
    struct frame frame;
    int found = put_arguments(&frame, arguments);
    if (found == FITS)
        return Py_BuildValue("y#y#", (char *)frame.key, (Py_ssize_t)sizeof(word) * frame.n_key,
                             (char *)frame.words, (Py_ssize_t)sizeof(word) * frame.n_words);
    return found == FAILED ? NULL : Py_BuildValue("");
}

/* Codes and their results. */

static PyObject *number_of(char kind, word bits)
{
    double number;
    switch (kind) {
    case 'q':
        return PyLong_FromLongLong(bits);
    case 'Q':
        return PyLong_FromUnsignedLongLong((uint64_t)bits);
    case '?':
        return PyBool_FromLong(bits & 1);
    default:
        memcpy(&number, &bits, sizeof number);
        return PyFloat_FromDouble(number);
    }
}

static PyObject *result_of(PyObject *code, const word *words)
{
    char *kinds;
    Py_ssize_t n;
    PyObject *make = PyTuple_GetItem(code, MAKE);
    if (make == NULL || PyBytes_AsStringAndSize(PyTuple_GetItem(code, KINDS), &kinds, &n) < 0)
        return NULL;
    if (make == Py_None)
        return n == 0 ? Py_BuildValue("") : number_of(kinds[0], words[0]);
    PyObject *fields = PyTuple_New(n);
    for (Py_ssize_t k = 0; fields != NULL && k < n; k++) {
        PyObject *field = number_of(kinds[k], words[k]);
        if (field == NULL || PyTuple_SetItem(fields, k, field) < 0)
            Py_CLEAR(fields);
    }
    if (fields == NULL)
        return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(make, fields, NULL);
    Py_DECREF(fields);
    return result;
}

/* Returns the code for the arguments in a frame, borrowed; NULL where there is none. */
static PyObject *code_for(PyObject *codes, const struct frame *frame, kernel_code *address)
{
    PyObject *key = PyBytes_FromStringAndSize((char *)frame->key, sizeof(word) * frame->n_key);
    PyObject *code = key == NULL ? NULL : PyDict_GetItemWithError(codes, key);
    Py_XDECREF(key);
    if (code != NULL)
        *address = (kernel_code)PyLong_AsVoidPtr(PyTuple_GetItem(code, ADDRESS));
    return code != NULL && *address != NULL ? code : NULL;
}

static PyObject *raised(PyObject *code)
{
    return PyErr_Format(PyExc_RuntimeError, "%S raised an exception, which no kernel may.",
                        PyTuple_GetItem(code, NAME));
}

static int has_arguments(Py_ssize_t n, Py_ssize_t expected)
{
    if (n != expected)
        PyErr_Format(PyExc_TypeError, "Expected %zd arguments; got %zd.", expected, n);
    return n == expected;
}

static PyObject *call(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    struct frame frame;
    kernel_code address;
    if (!has_arguments(n, 2))
        return NULL;
    int found = put_arguments(&frame, given[1]);
    PyObject *code = found == FITS ? code_for(given[0], &frame, &address) : NULL;
    if (code == NULL)
        return PyErr_Occurred() ? NULL : Py_BuildValue("O", Py_NotImplemented);
    Py_INCREF(code);
    PyThreadState *thread = PyEval_SaveThread();
    word answer = address(frame.words);
    PyEval_RestoreThread(thread);
    PyObject *result = answer == DONE ? result_of(code, frame.words) : raised(code);
    Py_DECREF(code);
    return result;
}

/* Bound calls: arguments are flattened once, and one word changes. The interpreter is held, so that
   their arrays are replaced between two calls and never during one. */

#define BOUND "rosenblatt bound call"

struct bound {
    kernel_code address;
    PyObject *code, *arguments; /* kept alive */
    int place;                  /* of the word that changes */
    word head[RESULT_WORDS];    /* arguments that a result overwrites */
    word words[MOST_WORDS];
};

static void free_bound(PyObject *capsule)
{
    struct bound *bound = PyCapsule_GetPointer(capsule, BOUND);
    Py_DECREF(bound->code);
    Py_DECREF(bound->arguments);
    free(bound);
}

static PyObject *bind(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    struct frame frame;
    kernel_code address;
    if (!has_arguments(n, 3))
        return NULL;
    int place = MOST_WORDS - 1; /* no argument stands there */
    if (given[2] != Py_None) {
        PyObject *before = PyTuple_GetSlice(given[1], 0, PyLong_AsSsize_t(given[2]));
        if (before == NULL)
            return NULL;
        put_arguments(&frame, before);
        place = frame.n_words;
        Py_DECREF(before);
    }
    int found = put_arguments(&frame, given[1]);
    PyObject *code = found == FITS ? code_for(given[0], &frame, &address) : NULL;
    if (code == NULL)
        return PyErr_Occurred() ? NULL : Py_BuildValue("");
    struct bound *bound = malloc(sizeof *bound);
    if (bound == NULL)
        return PyErr_NoMemory();
    *bound = (struct bound){.address = address, .code = code, .arguments = given[1], .place = place};
    memcpy(bound->words, frame.words, sizeof bound->words);
    memcpy(bound->head, frame.words, sizeof bound->head);
    Py_INCREF(bound->code);
    Py_INCREF(bound->arguments);
    return PyCapsule_New(bound, BOUND, free_bound);
}

/* Runs a bound call and copies its result; returns 0 with an exception where that fails. */
static int run_bound(PyObject *capsule, word number, word *result)
{
    struct bound *bound = PyCapsule_GetPointer(capsule, BOUND);
    if (bound == NULL)
        return 0;
    bound->words[bound->place] = number;
    word answer = bound->address(bound->words);
    memcpy(result, bound->words, sizeof bound->head);
    memcpy(bound->words, bound->head, sizeof bound->head);
    if (answer != DONE)
        raised(bound->code);
    return answer == DONE;
}

static PyObject *run(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    word result[RESULT_WORDS];
    if (!has_arguments(n, 2))
        return NULL;
    word number = PyLong_AsLongLong(given[1]);
    if ((number == -1 && PyErr_Occurred()) || !run_bound(given[0], number, result))
        return NULL;
    struct bound *bound = PyCapsule_GetPointer(given[0], BOUND);
    return result_of(bound->code, result);
}

/* Single rows. */

#define ROW "rosenblatt row"
enum { RIGHT, MISTAKE, OVERFLOW = 3, UNUSUAL = -1, SHORT = 128 }; /* as in kernels/single_rows.py */

struct row {
    Py_buffer data, indices, indptr; /* of float64, int32 and int64 */
    Py_ssize_t room;
    PyObject *numbers; /* of names, that are remembered; or NULL */
    int complete;      /* names without a number count for nothing in a decision */
    PyObject **names;  /* of the row before, in its order */
    int32_t *places;   /* their numbers */
    int *ranks;        /* where each number stands among all */
    Py_ssize_t ranked; /* how many have a rank; 0 where they changed */
};

static void free_row(PyObject *capsule)
{
    struct row *row = PyCapsule_GetPointer(capsule, ROW);
    PyBuffer_Release(&row->data);
    PyBuffer_Release(&row->indices);
    PyBuffer_Release(&row->indptr);
    for (Py_ssize_t k = 0; row->names != NULL && k < row->room; k++)
        Py_XDECREF(row->names[k]);
    Py_XDECREF(row->numbers);
    free(row->names);
    free(row->places);
    free(row->ranks);
    free(row);
}

static PyObject *new_row(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    if (!has_arguments(n, 3))
        return NULL;
    struct row *row = calloc(1, sizeof *row);
    PyObject *capsule = row == NULL ? PyErr_NoMemory() : PyCapsule_New(row, ROW, free_row);
    if (capsule == NULL || PyObject_GetBuffer(given[0], &row->data, PyBUF_CONTIG) < 0
        || PyObject_GetBuffer(given[1], &row->indices, PyBUF_CONTIG) < 0
        || PyObject_GetBuffer(given[2], &row->indptr, PyBUF_CONTIG) < 0) {
        Py_XDECREF(capsule);
        return NULL;
    }
    row->room = row->data.len / (Py_ssize_t)sizeof(double);
    row->names = calloc(row->room + 1, sizeof *row->names);
    row->places = calloc(row->room + 1, sizeof *row->places);
    row->ranks = calloc(row->room + 1, sizeof *row->ranks);
    int fits = row->indices.len == row->room * 4 && row->indptr.len == 16;
    if (!fits)
        PyErr_SetString(PyExc_TypeError, "A row is float64, as many int32 and two int64.");
    else if (row->names == NULL || row->places == NULL || row->ranks == NULL)
        PyErr_NoMemory();
    if (PyErr_Occurred())
        Py_CLEAR(capsule);
    return capsule;
}

static PyObject *remember(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    struct row *row = has_arguments(n, 3) ? PyCapsule_GetPointer(given[0], ROW) : NULL;
    if (row == NULL)
        return NULL;
    PyObject *before = row->numbers;
    Py_INCREF(given[1]);
    row->numbers = given[1];
    row->complete = PyObject_IsTrue(given[2]);
    row->ranked = 0;
    for (Py_ssize_t k = 0; k < row->room; k++)
        Py_CLEAR(row->names[k]);
    Py_XDECREF(before);
    return Py_BuildValue("");
}

/* Of equal numbers, the first stands first. */
static void rank_places(struct row *row, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        row->ranks[i] = 0;
        for (Py_ssize_t k = 0; k < n; k++)
            row->ranks[i] += row->places[k] < row->places[i] || (row->places[k] == row->places[i] && k < i);
    }
    row->ranked = n;
}

/* Writes a number of a plain type; returns whether it is one. */
static int put_value(PyObject *value, double *place)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyFloat_Type || type == float64_type) {
        *place = PyFloat_AsDouble(value);
        return 1;
    }
    if (type != &PyLong_Type && type != &PyBool_Type)
        return 0;
    word whole = PyLong_AsLongLong(value);
    if (whole == -1 && PyErr_Occurred()) { /* more than 64 bits */
        PyErr_Clear();
        return 0;
    }
    *place = (double)whole;
    return 1;
}

/* Writes the features of a dict to a row; returns whether all fitted.

Names are exact texts or whole numbers, so that looking one up runs no other code. By numbers that
the row remembers, a name that is the very object of the row before, at the same place, is not
looked up; and where a row has all names of the one before, they are put in order at once. A name
without a number is left out where that counts for nothing, if its value is a finite number. */
static int fill(struct row *row, PyObject *numbers, PyObject *features, int decides)
{
    double *data = row->data.buf, ignored;
    int32_t *indices = row->indices.buf;
    PyObject *name, *value;
    Py_ssize_t position = 0, n = 0;
    int remembers = numbers == row->numbers, skips = decides && row->complete, changed = !remembers;
    int ranked = remembers && row->ranked > 0 && PyDict_Size(features) == row->ranked;
    while (PyDict_Next(features, &position, &name, &value)) {
        if (n == row->room)
            return 0;
        Py_ssize_t target = n;
        int32_t place = row->places[n];
        if (!remembers || name != row->names[n]) {
            changed = 1;
            row->ranked = 0;
            if (ranked) { /* once more, in the order of the dict */
                ranked = 0, n = 0, position = 0;
                continue;
            }
            if (Py_TYPE(name) != &PyUnicode_Type && Py_TYPE(name) != &PyLong_Type)
                return 0;
            PyObject *number = PyDict_GetItemWithError(numbers, name);
            if (number == NULL) {
                if (skips && put_value(value, &ignored) && isfinite(ignored))
                    continue;
                return 0;
            }
            place = (int32_t)PyLong_AsLongLong(number);
            if (remembers) {
                row->places[n] = place;
                Py_INCREF(name);
                Py_XDECREF(row->names[n]);
                row->names[n] = name;
            }
        } else if (ranked)
            target = row->ranks[n];
        indices[target] = place;
        if (!put_value(value, &data[target]))
            return 0;
        n++;
    }
    ((word *)row->indptr.buf)[1] = n;
    if (!changed && row->ranked == 0 && n <= SHORT)
        rank_places(row, n);
    return 1;
}

/* Fills a row by the arguments row, numbers and features; returns whether all fitted. */
static int fill_by(PyObject *const *given, int decides, Py_ssize_t longest)
{
    struct row *row = PyCapsule_GetPointer(given[0], ROW);
    if (row == NULL)
        return 0;
    if (!PyDict_Check(given[1]) || !PyDict_Check(given[2])) {
        PyErr_SetString(PyExc_TypeError, "Numbers and features of a row must be dicts.");
        return 0;
    }
    return PyDict_Size(given[2]) <= longest && fill(row, given[1], given[2], decides);
}

static PyObject *fill_row(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    int fitted = has_arguments(n, 3) && fill_by(given, 0, PY_SSIZE_T_MAX);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(fitted);
}

/* Enters a row, makes a pass over it and leaves it; see RowVisit. */
static PyObject *learn_row(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    word result[RESULT_WORDS], found = UNUSUAL;
    double loss;
    if (n != 7 && !has_arguments(n, 4))
        return NULL;
    word count = PyLong_AsLongLong(given[3]);
    if (n == 4 || fill_by(given + 4, 0, SHORT)) {
        if (!run_bound(given[0], 0, result))
            return NULL;
        found = result[0];
        if (found == RIGHT) {
            if (!run_bound(given[1], count, result))
                return NULL;
            found = result[0] > 0 ? MISTAKE : RIGHT; /* mistakes, updates, loss */
            memcpy(&loss, &result[2], sizeof loss);
            if (result[1] > 0 && !isfinite(loss))
                found = OVERFLOW;
            else if (result[1] > 0) {
                if (!run_bound(given[2], 0, result))
                    return NULL;
                found = result[0] == RIGHT ? found : OVERFLOW;
            }
        }
    }
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

static PyObject *decide_row(PyObject *module, PyObject *const *given, Py_ssize_t n)
{
    word result[RESULT_WORDS] = {UNUSUAL};
    if (n != 5 && !has_arguments(n, 2))
        return NULL;
    word count = PyLong_AsLongLong(given[1]);
    if ((n == 2 || fill_by(given + 2, 1, SHORT)) && !run_bound(given[0], count, result))
        return NULL;
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(result[0]);
}

/* Kernels that are linked in. */

struct kernel {
    const char *symbol, *result;
    kernel_code code[MOST_LEVELS];
};

#ifdef HAS_KERNELS
#include "kernel_table.h"
enum { N_KERNELS = sizeof table / sizeof *table, N_LEVELS = sizeof table_levels / sizeof *table_levels };
#else
static const char table_sources[] = "", *const table_levels[] = {""};
static const struct kernel table[] = {{"", "", {NULL}}};
enum { N_KERNELS = 0, N_LEVELS = 0 };
#endif

static int by_symbol(const void *symbol, const void *kernel)
{
    return strcmp(symbol, ((const struct kernel *)kernel)->symbol);
}

static PyObject *kernel(PyObject *module, PyObject *arguments)
{
    const char *symbol, *level;
    if (!PyArg_ParseTuple(arguments, "ss", &symbol, &level))
        return NULL;
    const struct kernel *found = bsearch(symbol, table, N_KERNELS, sizeof *table, by_symbol);
    for (int k = 0; found != NULL && k < N_LEVELS; k++)
        if (strcmp(level, table_levels[k]) == 0 && found->code[k] != NULL)
            return Py_BuildValue("Ns", PyLong_FromVoidPtr((void *)found->code[k]), found->result);
    return Py_BuildValue("");
}

static PyObject *levels(PyObject *module, PyObject *nothing)
{
#if !defined(__x86_64__) && !defined(_M_X64)
    return Py_BuildValue("(s)", "generic");
#elif (defined(__clang__) && __clang_major__ >= 18) || (!defined(__clang__) && __GNUC__ >= 12)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v3"))
        return Py_BuildValue("sss", "x86-64-v3", "x86-64-v2", "x86-64");
    if (__builtin_cpu_supports("x86-64-v2"))
        return Py_BuildValue("ss", "x86-64-v2", "x86-64");
    return Py_BuildValue("(s)", "x86-64");
#else
    return Py_BuildValue("()"); /* this compiler does not know */
#endif
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}
static PyMethodDef functions[] = {
    FAST("call", call), FAST("bind", bind), FAST("run", run), {"flatten", flatten, METH_O, NULL},
    FAST("row", new_row), FAST("remember", remember), FAST("fill_row", fill_row),
    FAST("learn_row", learn_row), FAST("decide_row", decide_row),
    {"kernel", kernel, METH_VARARGS, NULL}, {"levels", levels, METH_NOARGS, NULL}, {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_machine", NULL, -1, functions};

PyMODINIT_FUNC PyInit__machine(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    array_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray");
    float64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "float64");
    int64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "int64");
    uint64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "uint64");
    dtype_name = PyUnicode_InternFromString("dtype");
    Py_DECREF(numpy);
    PyObject *module = PyErr_Occurred() ? NULL : PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddStringConstant(module, "source", SOURCE_DIGEST) < 0
                           || PyModule_AddStringConstant(module, "kernel_sources", table_sources) < 0
                           || PyModule_AddIntConstant(module, "n_kernels", N_KERNELS) < 0))
        Py_CLEAR(module);
    return module;
}
