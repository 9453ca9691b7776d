// Poisson's equation on a square with PETSc: conjugate gradients, then multigrid; prints iterations and norms.

#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode right_side(KSP ksp, Vec b, void *context)
{
    PetscInt n;
    DM da;
    PetscFunctionBeginUser;
    PetscCall(KSPGetDM(ksp, &da));
    PetscCall(DMDAGetInfo(da, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(VecSet(b, 1.0 / ((double)(n + 1) * (n + 1))));
    PetscFunctionReturn(0);
}

static PetscErrorCode matrix(KSP ksp, Mat unused, Mat a, void *context)
{
    DMDALocalInfo info;
    DM da;
    PetscFunctionBeginUser;
    PetscCall(KSPGetDM(ksp, &da));
    PetscCall(DMDAGetLocalInfo(da, &info));
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
        for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
            MatStencil row = {.i = i, .j = j}, columns[5] = {row};
            PetscScalar values[5] = {4};
            PetscInt n = 1;
            if (i > 0) columns[n] = row, columns[n].i--, values[n++] = -1;
            if (i < info.mx - 1) columns[n] = row, columns[n].i++, values[n++] = -1;
            if (j > 0) columns[n] = row, columns[n].j--, values[n++] = -1;
            if (j < info.my - 1) columns[n] = row, columns[n].j++, values[n++] = -1;
            PetscCall(MatSetValuesStencil(a, 1, &row, n, columns, values, INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(const char *type, const char *preconditioner)
{
    KSP ksp;
    PC pc;
    DM da;
    Vec x;
    PetscInt iterations;
    PetscReal norm, largest, residual;
    PetscFunctionBeginUser;
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 65,
                           PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetDM(ksp, da));
    PetscCall(KSPSetComputeRHS(ksp, right_side, NULL));
    PetscCall(KSPSetComputeOperators(ksp, matrix, NULL));
    PetscCall(KSPSetType(ksp, type));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, preconditioner));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, NULL, NULL));
    PetscCall(KSPGetSolution(ksp, &x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetResidualNorm(ksp, &residual));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecMax(x, NULL, &largest));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "result: %s %s: %d iterations, residual %.6e, norm %.12e, maximum %.12e\n",
                          type, preconditioner, (int)iterations, (double)residual, (double)norm, (double)largest));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(DMDestroy(&da));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(solve(KSPCG, PCBJACOBI));
    PetscCall(solve(KSPGMRES, PCASM));
    PetscCall(solve(KSPFGMRES, PCMG));
    PetscCall(PetscFinalize());
    return 0;
}
